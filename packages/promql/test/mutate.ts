/** Makes broken and half-broken queries out of good ones, from a seed. */
import type { Random } from './prometheus/random.ts';

const PIECES = (
  'sum rate avg topk count_values quantile foo a up by without on ignoring group_left group_right bool offset and or ' +
  'unless atan2 start end inf nan ( ) { } [ ] , : @ = != =~ !~ == < <= > >= + - * / % ^ " \' ` # 5m 1h30m 0 1 1e3 0x1f ' +
  '1_0 .5 "x" `y` {a="b"} [5m] [5m:1m] (x) (foo) (foo[5m]) _ $ \\ \n ; é 5 1h __name__ "a b" label_replace time() abs'
).split(' ');

/** Changes a query in one to four places: deletes, doubles, swaps or inserts stretches. */
export function mutate(query: string, random: Random, others: readonly string[]): string {
  let text = query;
  const changes = 1 + Math.floor(random.next() ** 2 * 4);
  for (let i = 0; i < changes; i++) text = mutateOnce(text, random, others);
  return text;
}

function mutateOnce(text: string, random: Random, others: readonly string[]): string {
  const pick = (limit: number): number => random.integer(0, limit - 1);
  const at = pick(text.length + 1);
  const length = 1 + pick(6);
  const piece = random.pick(PIECES);
  switch (pick(7)) {
    case 0:
      return text.slice(0, at) + text.slice(at + length);
    case 1:
      return `${text.slice(0, at)}${piece}${text.slice(at)}`;
    case 2:
      return `${text.slice(0, at)} ${piece} ${text.slice(at)}`;
    case 3:
      return text.slice(0, at) + text.slice(at, at + length) + text.slice(at);
    case 4:
      return `${text.slice(0, at)}${piece}${text.slice(at + length)}`;
    case 5: {
      const other = random.pick(others);
      const from = pick(other.length + 1);
      return text.slice(0, at) + other.slice(from, from + 1 + pick(12)) + text.slice(at);
    }
    default:
      return text.slice(0, at) + String.fromCharCode(32 + pick(95)) + text.slice(at + 1);
  }
}

/** A string of random pieces and characters, of up to `limit` of them. */
export function gibberish(random: Random, limit: number): string {
  let text = '';
  const count = random.integer(0, limit);
  for (let i = 0; i < count; i++) {
    text += random.weighted<() => string>([
      [14, () => random.pick(PIECES)],
      [5, () => String.fromCharCode(random.integer(0, 127))],
      [1, () => String.fromCharCode(random.integer(0, 65_535))],
    ])();
    if (random.chance(0.3)) text += ' ';
  }
  return text;
}
