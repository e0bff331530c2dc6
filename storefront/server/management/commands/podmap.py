from argparse import ArgumentParser
from pathlib import Path

from django.conf import settings

from storefront.kit.refusals import InvalidFields
from storefront.pods import caddy, nginx
from storefront.pods.deployment import read_pods
from storefront.pods.publishing import publish
from storefront.pods.routes import routes
from storefront.pods.survey import survey
from storefront.server.command import Command as Base
from storefront.server.command import Failed

FORMATS = {"nginx": nginx.render, "caddy": caddy.render}


class Command(Base):
    help = "Write the map by which nginx or Caddy finds the pod of each request, and what each pod knows of the others."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--pods", type=Path, required=True, metavar="FILE", help="the file that lists the pods")
        parser.add_argument("--format", choices=FORMATS, required=True, help="the proxy that reads the map")
        parser.add_argument("--output", type=Path, metavar="FILE", help="where to write the map (default: stdout)")
        parser.add_argument("--test", default="", metavar="COMMAND", help="tests the proxy's files, such as nginx -t")
        parser.add_argument("--reload", default="", metavar="COMMAND", help="has the proxy read a map that has changed")

    def handle(self, *, pods, format, output, test, reload, **_options) -> None:
        if (test or reload) and not output:
            raise InvalidFields(errors={"output": ["Name the file that the proxy reads."]})
        listed = read_pods(pods)
        found = survey(listed)
        for problem in found.problems:
            self.write_message(problem)
        secure_host = settings.SECURE_HOST.partition(":")[0]
        text = FORMATS[format](listed, routes(listed, found.places), secure_host=secure_host)
        if not output:
            self.write_result(text)
        elif publish(text, output, test=test, reload=reload):
            self.write_message(f"{output} is new: {len(found.places)} hosts in {len(listed)} pods.")
        if found.problems:
            raise Failed("The map is written, but not all pods could be read or informed.")
