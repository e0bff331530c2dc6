from tests.answers import error_of


def test_an_unknown_path_is_a_json_404(stranger):
    answer = stranger.get("/nothing")
    assert answer.status_code == 404
    assert error_of(answer) == {"message": "Not found.", "code": "not_found"}
