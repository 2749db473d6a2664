/** Checks the notification channels of one alert manager. */
import { SEVERITIES } from '../model.ts';
import type { EntityContext } from './context.ts';
import { quote } from './nearest.ts';

export function checkChannels(context: EntityContext): void {
  const { draft, place, report } = context;
  const channels = draft.notification_channels;
  if (!Array.isArray(channels)) return;
  const seen = new Map<string, number>();
  channels.forEach((channel, i) => {
    if (channel === undefined) return;
    const path = ['notification_channels', i];
    if (typeof channel === 'string') {
      checkTwice(context, seen, i, channel, SEVERITIES);
      return;
    }
    if (channel.mention !== undefined && channel.type !== undefined && channel.type.toLowerCase() !== 'slack') {
      const detail = `mention works with Slack only, and this channel is of type ${channel.type}. Remove mention.`;
      report.add('channel/mention', detail, place.key([...path, 'mention']));
    }
    if (channel.name === undefined) return;
    const isBoth = !Object.hasOwn(channel, 'severity');
    const severities = isBoth ? SEVERITIES : channel.severity === undefined ? [] : [channel.severity];
    checkTwice(context, seen, i, channel.name, severities);
  });
}

function checkTwice(
  { place, report }: EntityContext,
  seen: Map<string, number>,
  index: number,
  name: string,
  severities: readonly string[],
): void {
  const twice = severities.find((severity) => seen.has(`${severity}/${name}`));
  if (twice !== undefined) {
    const { line } = place.object(['notification_channels', seen.get(`${twice}/${name}`)!]);
    const detail = `The channel ${quote(name)} is attached for ${twice} already, in line ${line}. A channel without severity is attached for both.`;
    report.add('channel/duplicate', detail, place.object(['notification_channels', index]));
    return;
  }
  for (const severity of severities) seen.set(`${severity}/${name}`, index);
}
