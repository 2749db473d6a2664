CREATE TABLE IF NOT EXISTS obsiac.metric_samples ON CLUSTER main AS obsiac.metric_samples_stored
ENGINE = Distributed('main', 'obsiac', 'metric_samples_stored', id)
