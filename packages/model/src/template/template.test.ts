import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatFixed, formatGeneral } from './decimal.ts';
import { groupInput } from './group.ts';
import { renderTemplate, type TemplateInput } from './render.ts';

const INPUT: TemplateInput = { labels: { job: 'api', instance: 'a:1', path: '/x y' }, value: 12.5 };

function rendered(source: string, input: Partial<TemplateInput> = {}): string {
  const result = renderTemplate(source, { ...INPUT, ...input });
  if (!result.ok) throw new Error(`${source}: ${result.problem}`);
  return result.text;
}

function problemOf(source: string, input: Partial<TemplateInput> = {}): string {
  const result = renderTemplate(source, { ...INPUT, ...input });
  if (result.ok) throw new Error(`${source} gives ${result.text}`);
  expect(result.text).toBe(source);
  return result.problem;
}

/** Template to pairs of value and text: what `promtool test rules` 3.5 gave for an annotation; null where it gave an error. */
const RECORDED = JSON.parse(readFileSync(new URL('testdata/prometheus.json', import.meta.url), 'utf8')) as Record<
  string,
  [value: number, text: string | null][]
>;

describe('templates that Prometheus rendered', () => {
  it('are many', () => {
    expect(Object.values(RECORDED).flat().length).toBeGreaterThan(400);
  });

  it.each(Object.entries(RECORDED))('%s', (source, results) => {
    const ours = results.map(([value]) => {
      const result = renderTemplate(source, { ...INPUT, value });
      return [value, result.ok ? result.text : null];
    });
    expect(ours).toEqual(results);
  });
});

describe('renderTemplate', () => {
  it.each([
    ['', ''],
    ['no template: 100% }} {', 'no template: 100% }} {'],
    ['{{ gt $value 5 }} {{ eq $value 12.5 }} {{ lt $value 13 }}', 'true true true'],
    ['{{ index $labels "path" }}', '/x y'],
    ['{{ if ne $labels.job "" -}}\n  job {{ $labels.job }}\n{{- end }}', 'job api'],
    ['{{ range 3 }}{{ . }}{{ end }}', '012'],
  ])('%j gives %j', (source, text) => {
    expect(rendered(source)).toBe(text);
  });

  it.each([
    ['{{ $externalURL }}', 'Line 1: there is no variable $externalURL.'],
    ['a\n{{ $lables.job }}', 'Line 2: there is no variable $lables.'],
    ['{{ humanise $value }}', 'Line 1: there is no function humanise.'],
    ['{{ query "up" }}', 'Line 1: there is no function query.'],
    ['{{ $value', 'Line 1: an action is opened with {{ and not closed.'],
    ['{{ }}', 'Line 1: a value is missing.'],
    ['{{ if $value }}x', 'Line 1: {{if}} has no {{end}}.'],
    ['{{ if $value }}x{{ else }}y', 'Line 1: {{if}} has no {{end}}.'],
    ['{{ if $value }}{{ else }}{{ else }}{{ end }}', 'Line 1: {{else}} after {{else}}.'],
    ['{{ end }}', 'Line 1: {{end}} without an open block.'],
    ['{{ break }}', 'Line 1: {{break}} outside of {{range}}.'],
    ['{{ define "x" }}{{ end }}', 'Line 1: {{define}} is not to be had here.'],
    ['{{ .Foo }}', 'Line 1: there is no .Foo, only .Labels and .Value.'],
    ['{{ $value.x }}', 'Line 1: float64 has no field x.'],
    ['\n\n{{ toUpper $value }}', 'Line 3: toUpper: takes a text, not float64.'],
    ['{{ humanize "one" }}', 'Line 1: humanize: takes a number, not "one".'],
    ['{{ printf }}', 'Line 1: printf takes at least 1 argument.'],
    ['{{ not 1 2 }}', 'Line 1: not takes 1 argument.'],
    ['{{ lt "a" 1 }}', 'Line 1: lt cannot compare string with int.'],
    ['{{ "x" | "y" }}', 'Line 1: only a function can stand after |.'],
    ['{{ $value 5 }}', 'Line 1: only a function takes arguments.'],
    ['{{ "open }}', 'Line 1: a quoted text does not end.'],
    ['{{ 08 }}', 'Line 1: 08 is no number.'],
    ['{{ 1a }}', 'Line 1: unexpected "a" after 1.'],
    ['{{ $value # }}', 'Line 1: unexpected "#".'],
    ['{{ (1 }}', 'Line 1: a parenthesis is not closed.'],
    ['{{ /* c */ }}', 'Line 1: unexpected "/".'],
    ['{{/* c }}', 'Line 1: a comment does not end.'],
    ['{{ match "(" "a" }}', expect.stringContaining('Line 1: match: error parsing regexp')],
    ['{{ humanizeTimestamp 1e300 }}', 'Line 1: humanizeTimestamp: 1e+300 is no unix time in seconds.'],
    ['{{ parseDuration "soon" }}', 'Line 1: parseDuration: "soon" is no duration, such as 1h30m.'],
  ])('refuses %j: %s', (source, problem) => {
    expect(problemOf(source)).toEqual(problem);
  });

  it('ends within its bounds, whatever is asked for', () => {
    const nested = (count: number) => `${'{{if 1}}'.repeat(count)}x${'{{end}}'.repeat(count)}`;
    expect(rendered(nested(50))).toBe('x');
    expect(problemOf(nested(51))).toContain('nested more than 50 deep');
    expect(problemOf(`{{ ${'('.repeat(60)}1${')'.repeat(60)} }}`)).toContain('nested more than 50 deep');
    expect(problemOf('{{ range 1000000000 }}{{ end }}')).toContain('more than 20000 steps');
    expect(problemOf('{{ range 100 }}{{ range 100 }}{{ range 100 }}{{ end }}{{ end }}{{ end }}')).toContain('steps');
    expect(problemOf('{{ $x := "a" }}{{ range 64 }}{{ $x = print $x $x }}{{ end }}')).toContain('65536 characters');
    expect(problemOf('{{ range 1000 }}{{ printf "%1000d" 1 }}{{ end }}')).toContain('65536 characters');
    expect(problemOf(`{{ printf "${'%1000d'.repeat(100)}" }}${' '.repeat(65_536)}`)).toContain('65536 characters');
    expect(problemOf(`{{ printf "${'%[1]1000d'.repeat(100)}" 1 }}`)).toContain('65536 characters');
    expect(rendered('{{ printf "%100000d" 1 }}')).toBe('%!(BADWIDTH)1');
    const long = 'x'.repeat(3000);
    expect(problemOf(`{{ match "(.{0,1000}y)" "${long}" }}`)).toContain('more than 2048 characters');
    const slow = `{{ range 1000 }}{{ if match "(.{0,100}y)" "${long.slice(0, 2000)}" }}{{ end }}{{ end }}`;
    expect(problemOf(slow)).toContain('steps');
  });

  it('keeps label values as they are', () => {
    const value = '{{ $value }} <b> & "x" \u0000 \ud800';
    expect(rendered('{{ $labels.job }}', { labels: { job: value } })).toBe(value);
    expect(rendered('{{ range $k, $v := $labels }}{{ $k }}:{{ $v }},{{ end }}', { labels: {} })).toBe('');
    expect(rendered('{{ $labels.constructor }}{{ $labels.__proto__ }}|')).toBe('|');
    expect(rendered('{{ urlquery $labels.job }}', { labels: { job: '\ud800' } })).toBe('%EF%BF%BD');
  });

  const word = fc.constantFrom(
    ...'$labels $value . .Labels .Value $labels.job $x index len printf print humanize match reReplaceAll range if else end'.split(
      ' ',
    ),
    ...'with and or not eq lt ( ) | := = , "a" "%5.2f" `x` 1 2.5 -3 \'c\' {{ }} {{- -}} /* */ break continue true nil \n $'.split(
      ' ',
    ),
  );

  it('never throws, and gives the source back when it fails', () => {
    const source = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 60 }).map((inside) => `{{${inside}}}`),
      fc.array(word, { maxLength: 25 }).map((words) => `{{ ${words.join(' ')} }}`),
      fc.array(word, { maxLength: 25 }).map((words) => words.map((each) => `{{${each}}}`).join(' ')),
    );
    fc.assert(
      fc.property(source, fc.double(), (template, value) => {
        const result = renderTemplate(template, { ...INPUT, value });
        if (!result.ok) {
          expect(result.text).toBe(template);
          expect(result.problem).toMatch(/\.$/);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('leaves alone what has no action, and what is printed is never read again', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (content) => {
        expect(rendered('{{ $labels.job }}', { labels: { job: content } })).toBe(content);
        if (!content.includes('{{')) expect(rendered(content)).toBe(content);
      }),
    );
  });
});

describe('numbers', () => {
  it('are rounded from their exact value', () => {
    fc.assert(
      fc.property(
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.integer({ min: 0, max: 20 }),
        (value, precision) => {
          // Far from a tie, JavaScript's rounding is the same.
          const fixed = formatFixed(value, 100);
          expect(Number(fixed)).toBeCloseTo(value, 50);
          expect(Number(formatGeneral(value, 17))).toBe(value);
          expect(formatFixed(value, precision)).toMatch(precision === 0 ? /^-?\d+$/ : /^-?\d+\.\d+$/);
        },
      ),
    );
    expect([0.5, 1.5, 2.5, -0.5].map((value) => formatFixed(value, 0))).toEqual(['0', '2', '2', '-0']);
    expect(formatFixed(1e22, 1)).toBe('10000000000000000000000.0');
    expect(formatGeneral(9.9999, 4)).toBe('10');
  });
});

describe('a group of series', () => {
  const member = (labels: Record<string, string>, value: number) => ({ labels, value });

  it('shows what agrees, counts what does not, and the worst percentile', () => {
    const members = [
      member({ job: 'api', instance: 'a' }, 10),
      member({ job: 'api', instance: 'b' }, 20),
      member({ job: 'api', instance: 'c', zone: 'z' }, 30),
    ];
    const input = groupInput(members, 'greatest');
    expect(rendered('{{ $labels }}', input)).toBe('map[instance:3 job:1 zone:2]');
    expect(rendered('{{ $labels.job }} on {{ $labels.instance }} in {{ $labels.zone }}', input)).toBe(
      'api on 3 values in 2 values',
    );
    expect(input.value).toBeCloseTo(29.8, 10);
    expect(groupInput(members, 'least').value).toBeCloseTo(10.2, 10);
    expect(rendered('{{ range $k, $v := $labels }}{{ $k }}={{ $v }};{{ end }}', input)).toBe(
      'instance=3 values;job=api;zone=2 values;',
    );
  });

  it('of one series is that series, and takes any values', () => {
    expect(groupInput([member({ job: 'api' }, 5)], 'greatest')).toEqual({
      labels: { job: 'api' },
      labelCounts: { job: 1 },
      value: 5,
    });
    expect(groupInput([], 'greatest').value).toBeNaN();
    expect(groupInput([member({}, Number.NaN), member({}, 7)], 'least').value).toBe(7);
    expect(groupInput([member({}, Infinity), member({}, Infinity)], 'greatest').value).toBe(Infinity);
  });

  it('lies between the least and the greatest value', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e150, max: 1e150 }), { minLength: 1 }),
        (values) => {
          const members = values.map((value) => member({}, value));
          for (const worst of ['greatest', 'least'] as const) {
            const { value } = groupInput(members, worst);
            expect(value).toBeGreaterThanOrEqual(Math.min(...values));
            expect(value).toBeLessThanOrEqual(Math.max(...values));
          }
        },
      ),
    );
  });
});
