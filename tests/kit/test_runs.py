from storefront.kit.runs import runs_of


def test_runs():
    assert runs_of([]) == []
    assert runs_of([4, 5, 6]) == [(4, 6)]
    assert runs_of([1, 3, 4, 9]) == [(1, 1), (3, 4), (9, 9)]
