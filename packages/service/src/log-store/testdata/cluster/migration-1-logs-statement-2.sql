CREATE TABLE IF NOT EXISTS obsiac.logs ON CLUSTER main AS obsiac.logs_stored
ENGINE = Distributed('main', 'obsiac', 'logs_stored', id)
