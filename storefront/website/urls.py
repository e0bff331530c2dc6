from django.urls import path

from storefront.website import basket_pages, pages, search_engines

app_name = "website"

urlpatterns = [
    path("", pages.home, name="home"),
    path("products", pages.listing, name="listing"),
    path("products/<str:slug>", pages.product, name="product"),
    path("categories/<str:slug>", pages.category, name="category"),
    path("basket", basket_pages.basket, name="basket"),
    path("basket/add", basket_pages.add, name="basket_add"),
    path("basket/update", basket_pages.update, name="basket_update"),
    path("robots.txt", search_engines.robots, name="robots"),
    path("sitemap.xml", search_engines.sitemap, name="sitemap"),
    path("sitemap-<int:number>.xml", search_engines.sitemap_part, name="sitemap_part"),
]
