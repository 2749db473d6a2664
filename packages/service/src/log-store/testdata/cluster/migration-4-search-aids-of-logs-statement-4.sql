ALTER TABLE obsiac.logs_stored ON CLUSTER main
    (MATERIALIZE INDEX by_word)
SETTINGS mutations_sync = 0, alter_sync = 0
