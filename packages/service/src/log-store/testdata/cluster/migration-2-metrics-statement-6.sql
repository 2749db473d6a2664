CREATE TABLE IF NOT EXISTS obsiac.metric_metadata ON CLUSTER main AS obsiac.metric_metadata_stored
ENGINE = Distributed('main', 'obsiac', 'metric_metadata_stored', sipHash64(org, name))
