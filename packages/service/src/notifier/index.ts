/** The notifier: from what fires and ends to messages that are delivered. */
export { listBindings } from './bindings.ts';
export type {
  ChannelBinding,
  EnqueueNotifications,
  EnqueueOutage,
  NotifyContext,
  NotifyMoment,
  OpenEpisode,
  OutageContext,
  RuleDefinition,
} from './context.ts';
export { enqueueNotifications } from './enqueue.ts';
export { createNotifier, type Notifier, type NotifierOptions } from './notifier.ts';
export { enqueueOutage } from './outage.ts';
export { rulesWithUnsentResolves, type UntoldRule } from './rows.ts';
