from django.urls import path

from storefront.payments import news

app_name = "payments"

# On the shop's own host and on the secure host: a merchant may have given a provider either.
urlpatterns = [path("payments/<str:provider>/news", news.provider_news, name="news")]
