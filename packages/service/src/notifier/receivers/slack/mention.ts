/** Who is mentioned: Slack pings ids and its own groups, and names when it is asked to look for them. */
import { escapeText } from './escape.ts';

const EVERYBODY = /^<?[@!]?(here|channel|everyone)>?$/;
const USER = /^<?@?([UW][A-Z0-9]{6,20})>?$/;
const USER_GROUP = /^<?(?:!subteam\^)?@?(S[A-Z0-9]{6,20})(?:\|[^<>]*)?>?$/;

/** `@here`, `U024BE7LH`, `<@U024BE7LH>`, `S0614TZR7` and `@platform-oncall`, with blanks between them. */
export function mentionsText(mentions: readonly string[]): string {
  return namesOf(mentions)
    .map(mentionText)
    .filter((text) => text !== '')
    .join(' ');
}

function mentionText(name: string): string {
  const everybody = EVERYBODY.exec(name)?.[1];
  if (everybody !== undefined) return `<!${everybody}>`;
  const user = USER.exec(name)?.[1];
  if (user !== undefined) return `<@${user}>`;
  const group = USER_GROUP.exec(name)?.[1];
  if (group !== undefined) return `<!subteam^${group}>`;
  const plain = name.replace(/^@/, '');
  return plain === '' ? '' : `@${escapeText(plain)}`;
}

/** True when somebody is mentioned by a name that Slack has to look up. */
export function hasPlainNames(mentions: readonly string[]): boolean {
  return namesOf(mentions).some((name) => mentionText(name).startsWith('@'));
}

/** One text may hold several names. */
function namesOf(mentions: readonly string[]): string[] {
  return mentions.flatMap((mention) => mention.split(/[\s,]+/));
}
