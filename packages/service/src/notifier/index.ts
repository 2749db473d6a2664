/** The notifier: from what fires and ends to messages that are delivered. */
export { listBindings } from './bindings.ts';
export type { ChannelBinding, OpenEpisode } from './context.ts';
export { enqueueNotifications } from './enqueue.ts';
export { createNotifier, type Notifier } from './notifier.ts';
export { enqueueOutage } from './outage.ts';
