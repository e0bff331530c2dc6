# The service as an image: `docker build -t storefront .`. compose.yaml runs it with all that it needs.
FROM python:3.13-slim AS build
ENV UV_COMPILE_BYTECODE=1 UV_LINK_MODE=copy UV_PYTHON_DOWNLOADS=never
WORKDIR /srv/storefront
# hadolint ignore=DL3013
RUN pip install --no-cache-dir 'uv>=0.13,<1'
# The dependencies first: they change less often than the code.
COPY pyproject.toml uv.lock ./
RUN uv sync --frozen --no-dev --no-install-project
COPY README.md LICENSE ./
COPY storefront storefront
RUN uv sync --frozen --no-dev --no-editable

FROM python:3.13-slim
ENV PATH=/srv/storefront/.venv/bin:$PATH PYTHONUNBUFFERED=1 STOREFRONT_DATA_DIR=/var/lib/storefront
# For backups, and for trying to restore them.
# hadolint ignore=DL3008
RUN apt-get update && apt-get install -y --no-install-recommends postgresql-client rsync && rm -rf /var/lib/apt/lists/*
# A new volume has the owner and the mode of its folder in the image.
RUN groupadd --system --gid 10001 storefront \
    && useradd --system --uid 10001 --gid storefront --no-create-home --home-dir /var/lib/storefront storefront \
    && install -d -m 0700 -o storefront -g storefront \
        /var/lib/storefront /var/lib/storefront/media /var/lib/storefront/private /var/backups/storefront
COPY --from=build /srv/storefront/.venv /srv/storefront/.venv
COPY deploy/bin /srv/storefront/deploy/bin
USER 10001:10001
WORKDIR /var/lib/storefront
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/readyz', timeout=4)"]
ENTRYPOINT ["storefront"]
CMD ["serve", "--host", "0.0.0.0", "--no-worker"]
