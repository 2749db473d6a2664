/** A message in Slack's blocks. */
import type { NotificationMessage } from '@obsiac/api';
import { linksOf, seriesText } from '../details.ts';
import { isHttpUrl, SENDER } from '../receiver.ts';
import { cutEscaped, escapeText, linkText } from './escape.ts';
import { hasPlainNames, mentionsText } from './mention.ts';

/** The limits of Block Kit, in characters. */
const LONGEST = { section: 3000, field: 2000, text: 4000 } as const;
/** Elements of a context block, without ours. */
const MOST_LINKS = 9;

const COLOURS = { breach: '#d32f2f', threat: '#f9a825', resolve: '#2e7d32', test: '#607d8b' } as const;
const EVENTS = { trigger: 'TRIGGER', repeat: 'TRIGGER (still firing)', resolve: 'RESOLVED', test: 'TEST' } as const;
const SEVERITIES = { breach: 'BREACH (critical)', threat: 'THREAT (warning)' } as const;

type Block = Record<string, unknown>;

export function slackMessage(message: NotificationMessage): Record<string, unknown> {
  const summary = `${EVENTS[message.event]}: ${message.title}`;
  const mentions = mentionsText(message.mention);
  const text = cutEscaped(summary, LONGEST.text - mentions.length - 1);
  return {
    text: mentions === '' ? text : `${text} ${mentions}`,
    ...(hasPlainNames(message.mention) ? { link_names: true } : {}),
    attachments: [{ color: colourOf(message), fallback: text, blocks: blocksOf(message) }],
  };
}

function colourOf({ event, severity }: NotificationMessage): string {
  return event === 'resolve' || event === 'test' ? COLOURS[event] : COLOURS[severity];
}

function blocksOf(message: NotificationMessage): Block[] {
  const { description, annotations, notes, series_count: count } = message;
  const listed = Object.entries(annotations).map(([name, value]) => `${name}: ${value}`);
  const texts = [
    titled('Summary', message.title, message.link),
    section(description),
    ...(count > 1 ? [section(`${count} series\n${seriesText(message)}`)] : []),
    ...(count === 1 ? [section(message.series[0]!.explanation)] : []),
    section(listed.join('\n')),
    section(message.runbook === '' || isHttpUrl(message.runbook) ? '' : `Runbook: ${message.runbook}`),
    section(notes.join('\n')),
  ];
  return [
    texts[0]!,
    { type: 'section', fields: fieldsOf(message) },
    ...texts.slice(1).filter((block) => block !== undefined),
    ...linksBlock(message),
  ];
}

function titled(name: string, text: string, link: string): Block {
  const label = cutEscaped(text, LONGEST.section - link.length - 100);
  return mrkdwn(`*${name}*\n${linkText(link, label)}`);
}

/** Undefined when there is nothing to say: Slack refuses empty texts. */
function section(text: string): Block | undefined {
  const trimmed = text.trim();
  return trimmed === '' ? undefined : mrkdwn(cutEscaped(trimmed, LONGEST.section));
}

function mrkdwn(text: string): Block {
  return { type: 'section', text: { type: 'mrkdwn', text } };
}

function fieldsOf(message: NotificationMessage): Block[] {
  const { rule, entity } = message;
  const minutes = rule.name === '' ? '' : `${rule.bad_minutes} of ${rule.total_minutes} minutes`;
  const facts: readonly (readonly [string, string])[] = [
    ['Event Type', EVENTS[message.event]],
    ['Severity', SEVERITIES[message.severity]],
    ['Alert manager', entity.name],
    ['Condition', [conditionText(message), minutes].filter((part) => part !== '').join(', ')],
    ['Value', message.value],
    ['Team', entity.team],
    ['Data source', message.data_source],
    ['Reason', message.reason],
  ];
  const times = [['Since', message.started_at] as const, ['Until', message.ended_at] as const];
  return [
    ...facts
      .filter(([, value]) => value !== '')
      .map(([name, value]) => `*${name}*\n${cutEscaped(value, LONGEST.field - name.length - 3)}`),
    ...times.filter(([, at]) => at !== null).map(([name, at]) => `*${name}*\n${dateText(at!)}`),
  ]
    .slice(0, 10)
    .map((text) => ({ type: 'mrkdwn', text }));
}

/** `Errors > 100`, or `High Spike of Errors`: the threshold of a pattern says nothing. */
function conditionText({ rule, indicator }: NotificationMessage): string {
  if (rule.name === '') return '';
  return rule.type === 'Static Threshold' ? `${indicator.name} ${rule.condition}` : `${rule.type} of ${indicator.name}`;
}

/** In the reader's own time zone; the rest is for clients that cannot. */
function dateText(unixSeconds: number): string {
  const fallback = `${new Date(unixSeconds * 1000).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  return `<!date^${unixSeconds}^{date_short_pretty} {time}|${fallback}>`;
}

function linksBlock(message: NotificationMessage): Block[] {
  const links = linksOf(message)
    .slice(0, MOST_LINKS)
    .map(({ href, text }) => linkText(href, cutEscaped(text, 200)))
    .filter((link) => link.length <= LONGEST.field);
  const elements = [...links, escapeText(SENDER)].map((text) => ({ type: 'mrkdwn', text }));
  return [{ type: 'context', elements }];
}
