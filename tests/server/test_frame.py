def test_an_unknown_path_is_a_json_404(stranger):
    answer = stranger.get("/nothing")
    assert answer.status_code == 404
    assert answer.json() == {"message": "Not found.", "code": "not_found"}
