from tests.website.conftest import mailbox as mailbox
