ALTER TABLE obsiac.logs_stored ON CLUSTER main
    (MATERIALIZE INDEX by_word)
