"""Which pod gets a host that two of them have."""

from storefront.pods.survey import Place, decide


def decided(*rows: tuple[bool, Place]) -> tuple[list[int], list[str]]:
    problems: list[str] = []
    return [place.pod for place in decide(list(rows), problems)], problems


def place(pod: int, **given) -> Place:
    return Place("shop.example.com", pod + 1, pod, **given)


def test_one_pod_has_each_host():
    other = Place("other.example.com", 9, 0)
    assert decided((True, place(5)), (True, other)) == ([0, 5], [])


def test_an_open_shop_comes_before_a_closed_one():
    assert decided((False, place(0)), (True, place(5))) == ([5], [])


def test_a_closed_shop_keeps_its_pod():
    assert decided((False, place(5))) == ([5], [])


def test_two_open_shops_are_reported():
    pods, problems = decided((True, place(5)), (True, place(0)))
    assert pods == [0]
    assert problems == ["Pods 0 and 5 both serve shop.example.com; requests go to 0."]


def test_what_two_pods_remember_is_no_conflict():
    assert decided((True, place(5)), (True, place(5))) == ([5], [])


def test_a_shops_own_domain_comes_before_a_further_one():
    problems: list[str] = []
    found = decide([(True, place(5, is_domain=False)), (True, place(5))], problems)
    assert [each.is_domain for each in found] == [True]


def test_also_in_a_higher_pod():
    pods, problems = decided((True, place(0, is_domain=False)), (True, place(5)))
    assert pods == [5]
    assert problems == ["Pods 5 and 0 both serve shop.example.com; requests go to 5."]
