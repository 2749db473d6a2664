/** The wire: one file per resource, error codes, the client, and the way between wire and model. */
export * from './alert-rules.ts';
export * from './alerts.ts';
export * from './audit-trail.ts';
export * from './client.ts';
export * from './data-sources.ts';
export * from './entities.ts';
export * from './errors.ts';
export * from './kpis.ts';
export * from './logs.ts';
export * from './mapping/index.ts';
export * from './notification-settings.ts';
export * from './notifications.ts';
export * from './organization.ts';
export * from './tokens.ts';
