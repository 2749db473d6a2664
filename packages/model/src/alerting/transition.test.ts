import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type AlertEvent,
  type AlertingRule,
  type Episode,
  endEpisodes,
  judge,
  reachOf,
  type SeriesMinutes,
  seriesKey,
  type TransitionResult,
  transition,
} from './index.ts';

const RULE: AlertingRule = {
  id: 'rule-1',
  definition: 'd1',
  badMinutes: 3,
  totalMinutes: 5,
  recoverMinutes: 4,
  missing: 'ignore',
  worst: 'greatest',
};

const identify = (text: string) => `#${text}`;
const START = 1000;

/** `b` bad, `g` good, `.` missing; the first letter is the minute 1000. */
function line(text: string, labels: Record<string, string> = { host: 'a' }): SeriesMinutes {
  const values = Float64Array.from(text, (letter, index) =>
    letter === '.' ? Number.NaN : letter === 'b' ? 10 + index : 1,
  );
  return judge({ key: seriesKey(labels), labels, first: START, values }, 'greater_than', 5);
}

function run(series: SeriesMinutes[], rule = RULE, episodes: readonly Episode[] = [], from = START): TransitionResult {
  const to = START + Math.max(...series.map(({ quality }) => quality.length)) - 1;
  return transition({ rule, episodes, series, from, to, identify });
}

const shown = (events: readonly AlertEvent[]) =>
  events.map(({ kind, minute, episode }) =>
    `${minute - START} ${kind} ${episode.labels['host']} ${episode.reason ?? ''}`.trim(),
  );

describe('an episode', () => {
  it('begins in the very minute in which bad minutes are enough, consecutive or not', () => {
    expect(shown(run([line('ggbgbgg')]).events)).toEqual([]);
    expect(shown(run([line('ggbgbbg')]).events)).toEqual(['5 fired a']);
    expect(shown(run([line('bbb')]).events)).toEqual(['2 fired a']);
    expect(shown(run([line('b...bb')]).events)).toEqual([]);
    expect(shown(run([line('b..bb')]).events)).toEqual(['4 fired a']);
  });

  it('ends when the rule has not been met for the minutes of recovery', () => {
    // Met until minute 4 (minutes 0 to 4 hold three bad ones), so 5 to 8 are the four minutes of recovery.
    expect(shown(run([line('bbbgggggg')]).events)).toEqual(['2 fired a', '8 resolved a recovered']);
    expect(shown(run([line('bbbggggg')]).events)).toEqual(['2 fired a']);
    expect(shown(run([line('bbbgggbbbggggg')]).events)).toEqual(['2 fired a']);
  });

  it('is not ended by missing minutes, until nothing is left of the window', () => {
    expect(shown(run([line('bbb.......')]).events)).toEqual(['2 fired a']);
    expect(shown(run([line('bbb........')]).events)).toEqual(['2 fired a', '10 resolved a no_data']);
    expect(shown(run([line('bbb.......g')]).events)).toEqual(['2 fired a', '10 resolved a recovered']);
  });

  it('is not ended by the bad minute that follows a gap', () => {
    expect(shown(run([line('bbb.......b')]).events)).toEqual(['2 fired a']);
    expect(shown(run([line('bbb.......bb')]).events)).toEqual(['2 fired a']);
    expect(shown(run([line('bbb.......bg')]).events)).toEqual(['2 fired a', '11 resolved a recovered']);
    expect(shown(run([line('bbbgggggb')]).events)).toEqual(['2 fired a', '8 resolved a recovered']);
  });

  it('counts missing minutes as the policy says', () => {
    expect(shown(run([line('bbb......')], { ...RULE, missing: 'good' }).events)).toEqual([
      '2 fired a',
      '8 resolved a recovered',
    ]);
    expect(shown(run([line('g..........')], { ...RULE, missing: 'good' }).events)).toEqual([]);
  });

  it('has an identity of rule, series and first bad minute', () => {
    const [event] = run([line('ggbgbb')]).events;
    expect(event?.episode).toMatchObject({
      id: identify(JSON.stringify(['rule-1', '[["host","a"]]', START + 2])),
      firstBadMinute: START + 2,
      firedMinute: START + 5,
      value: 15,
    });
  });

  it('is another one when the series fires again', () => {
    const { events } = run([line('bbbgggggggbbb')]);
    expect(shown(events)).toEqual(['2 fired a', '8 resolved a recovered', '12 fired a']);
    expect(events[2]?.episode.id).not.toBe(events[0]?.episode.id);
  });

  it('shares a group with those that are open when it begins', () => {
    const first = { host: 'a' };
    const second = { host: 'b' };
    const { events } = run([line('bbbgggggggggbbb', first), line('gggbbbggggggggggg', second)]);
    expect(shown(events)).toEqual([
      '2 fired a',
      '5 fired b',
      '8 resolved a recovered',
      '11 resolved b recovered',
      '14 fired a',
    ]);
    const groups = events.map(({ episode }) => episode.groupId);
    expect(new Set(groups.slice(0, 4)).size).toBe(1);
    expect(groups[4]).not.toBe(groups[0]);
  });

  it('ends as "rule changed" when the new query does not know its series', () => {
    const open = run([line('bbb')]).episodes;
    const changed = { ...RULE, definition: 'd2' };
    const result = run([line('ggggg', { pod: 'x' })], changed, open, START + 3);
    expect(shown(result.events)).toEqual(['3 resolved a rule_changed']);
  });

  it('ends with its rule', () => {
    const open = run([line('bbb')]).episodes;
    expect(shown(endEpisodes(open, START + 7, 'rule_deleted'))).toEqual(['7 resolved a rule_deleted']);
    expect(endEpisodes(run([line('bbbgggggg')]).episodes, START + 9, 'rule_deleted')).toEqual([]);
  });

  it('tells the worst bad value and the newest value', () => {
    const values = Float64Array.of(9, 30, 7, 1);
    const series = judge({ key: 'k', labels: {}, first: START, values }, 'greater_than', 5);
    const { events, series: statuses } = run([series]);
    expect(events[0]).toMatchObject({ value: 7, episode: { value: 30 } });
    expect(statuses).toMatchObject([{ state: 'firing', badMinutes: 3, value: 1, quality: 0, since: START + 2 }]);
  });

  it('is late when it was found after a later minute had come', () => {
    expect(run([line('bbbg')]).events[0]?.late).toBe(true);
    expect(run([line('bbb')]).events[0]?.late).toBe(false);
  });
});

describe('the six operators', () => {
  it.each([
    ['greater_than', 'ggb'],
    ['greater_than_eq', 'gbb'],
    ['less_than', 'bgg'],
    ['less_than_eq', 'bbg'],
    ['equal_to', 'gbg'],
    ['not_equal', 'bgb'],
  ] as const)('%s judges 4, 5, 6 against 5', (operator, expected) => {
    const values = Float64Array.of(4, 5, 6, Number.NaN);
    const { quality } = judge({ key: '', labels: {}, first: 0, values }, operator, 5);
    expect([...quality].map((each) => 'gb.'[each]).join('')).toBe(`${expected}.`);
  });
});

const letters = fc.array(fc.constantFrom('b', 'b', 'g', 'g', 'g', '.'), { minLength: 40, maxLength: 120 });
const rules = fc
  .record({
    badMinutes: fc.integer({ min: 1, max: 8 }),
    extra: fc.integer({ min: 0, max: 8 }),
    recoverMinutes: fc.integer({ min: 1, max: 12 }),
    missing: fc.constantFrom('ignore', 'good'),
  })
  .map(({ extra, ...rule }) => ({ ...RULE, ...rule, totalMinutes: rule.badMinutes + extra }) as AlertingRule);

describe('evaluating in pieces', () => {
  it('gives what one run over the whole window gives, wherever it stops and whatever it forgets', () => {
    fc.assert(
      fc.property(
        rules,
        fc.array(letters, { minLength: 1, maxLength: 4 }),
        fc.array(fc.integer({ min: 1, max: 15 }), { minLength: 1, maxLength: 60 }),
        (rule, texts, steps) => {
          const length = Math.max(...texts.map((text) => text.length));
          const series = texts.map((text, index) => line(text.join('').padEnd(length, '.'), { host: `h${index}` }));
          const whole = run(series, rule);
          const events: AlertEvent[] = [];
          let episodes: readonly Episode[] = [];
          let from = START;
          for (let piece = 0; from < START + length; piece++) {
            const to = Math.min(from + steps[piece % steps.length]! - 1, START + length - 1);
            // Only what the rule reaches is fetched, and only what is open or ended within the reach is remembered.
            const isFiring = episodes.some(({ resolvedMinute }) => resolvedMinute === undefined);
            const oldest = from - reachOf(rule, isFiring) + 1;
            const window = series
              .map((each) => cut(each, oldest, to))
              .filter(({ quality }) => quality.some((q) => q !== 2));
            const known = episodes.filter(({ resolvedMinute }) => (resolvedMinute ?? from) >= oldest);
            const result = transition({ rule, episodes: known, series: window, from, to, identify });
            events.push(...result.events);
            episodes = [
              ...episodes.filter(({ id }) => !result.episodes.some((each) => each.id === id)),
              ...result.episodes,
            ];
            from = to + 1;
          }
          const plain = (all: readonly AlertEvent[]) => all.map(({ late: _, ...event }) => event);
          expect(plain(events)).toEqual(plain(whole.events));
        },
      ),
      { numRuns: 400 },
    );
  });
});

function cut(series: SeriesMinutes, from: number, to: number): SeriesMinutes {
  const begin = Math.max(from - series.first, 0);
  const end = Math.max(to - series.first + 1, begin);
  return {
    ...series,
    first: series.first + begin,
    quality: series.quality.subarray(begin, end),
    values: series.values.subarray(begin, end),
  };
}
