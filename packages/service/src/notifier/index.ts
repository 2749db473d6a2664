/** The notifier: from what fires and ends to messages that are delivered. */
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
