CREATE TABLE IF NOT EXISTS obsiac.metric_series ON CLUSTER main AS obsiac.metric_series_stored
ENGINE = Distributed('main', 'obsiac', 'metric_series_stored', id)
