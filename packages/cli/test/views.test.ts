/** The views, as texts of values: goldens in `testdata/`, and what must hold for any plan. */
import type { Plan } from '@obsiac/model';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyEnded, applyStep } from '../src/views/apply/messages.ts';
import { progressLine } from '../src/views/apply/progress.ts';
import { jsonLine } from '../src/views/json.ts';
import { diagnosticsShown } from '../src/views/messages.ts';
import { planText } from '../src/views/plan/human.ts';
import { planEvents } from '../src/views/plan/json.ts';
import { diffLines, withContext } from '../src/views/plan/line-diff.ts';
import { COMMENT_LIMIT, COMMENT_MARKER, planComment } from '../src/views/plan/markdown.ts';
import { createStyle, harmless, oneLine, PLAIN, wantsColours, wrap } from '../src/views/style.ts';
import { expectGolden } from './golden.ts';
import { EMPTY_PLAN, largePlan, SAMPLE_PLAN } from './sample-plan.ts';

const report = (plan: Plan) =>
  ({ plan, purpose: 'plan', applyCommand: 'obsiac -mf models -c config.json apply' }) as const;
const EPOCH = new Date(0);

describe('a plan for people', () => {
  it.for([
    ['plan.golden.txt', PLAIN],
    ['plan-narrow.golden.txt', createStyle(false, 60)],
    ['plan-colour.golden.txt', createStyle(true)],
  ] as const)('%s', ([file, style]) => {
    expectGolden(file, planText(report(SAMPLE_PLAN), style));
  });

  it('says when there is nothing to do', () => {
    expect(planText(report(EMPTY_PLAN), PLAIN)).toBe('No changes. The service matches the model.\n');
  });

  it('names the saved file and the command that applies it', () => {
    const text = planText(
      { ...report(SAMPLE_PLAN), savedAs: 'x.plan', applyCommand: 'obsiac -c c apply x.plan' },
      PLAIN,
    );
    expect(text).toContain('Saved the plan in x.plan.');
    expect(text).toContain('    obsiac -c c apply x.plan\n');
  });

  it('shows every deletion', () => {
    const text = planText(report(SAMPLE_PLAN), PLAIN);
    expect(text).toContain('  - alert rule "Old" of orders\n');
    expect(text).toContain('  - alert manager returns, with its 1 indicator, 1 alert rule\n');
  });

  it('lets no name move the cursor', () => {
    const evil = 'x\u001b[2J\u0007\u202e';
    const plan: Plan = {
      ...SAMPLE_PLAN,
      drift: [{ address: `a/alert_rules/${evil}`, kind: 'alert_rule', what: 'changed' }],
    };
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that they are absent is the point.
    expect(planText(report(plan), PLAIN)).not.toMatch(/[\u001b\u0007\u202e]/);
  });
});

describe('a plan as events', () => {
  it('is one event a change, then the totals', () => {
    const lines = planEvents(report(SAMPLE_PLAN)).map((event) => jsonLine(event, EPOCH));
    expectGolden('plan.golden.ndjson', lines.join(''));
  });
});

describe('many warnings', () => {
  const warnings = Array.from({ length: 25 }, (_, index) => ({
    severity: 'warning' as const,
    code: index === 24 ? 'rule/one-series' : 'rule/lookback',
    summary: 'Last value lingers',
    detail: `Rule ${index}`,
  }));
  const shown = diagnosticsShown(warnings, {
    render: ({ detail }) => `${detail}\n`,
    snippet: () => undefined,
    compactWarnings: false,
  });

  it('are shown as text only so far, and counted', () => {
    const text = shown.human?.(PLAIN) ?? '';
    expect(text.match(/^Rule/gm)?.length).toBe(21);
    expect(text).toContain('Warning: 4 more of rule/lookback; --json shows them.');
    expect(text).toContain('25 warnings');
  });

  it('are all events', () => {
    expect(shown.json?.().length).toBe(25);
  });
});

describe('a plan as a comment', () => {
  it('has the summary first, then deletions', () => {
    expectGolden('plan.golden.md', planComment({ plan: report(SAMPLE_PLAN), diagnostics: [] }));
  });

  it('says when there is nothing to do', () => {
    expect(planComment({ plan: report(EMPTY_PLAN), diagnostics: [] })).toBe(
      `${COMMENT_MARKER}\n### Obsiac plan: no changes\n`,
    );
  });

  it('tells errors of the model instead of a plan', () => {
    const source = { file: 'm.yaml', line: 3, column: 1, endLine: 3, endColumn: 2 };
    const diagnostics = [
      {
        severity: 'error',
        code: 'field/unknown',
        summary: 'Unknown field',
        detail: 'There is no `x` <b>@all</b>',
        source,
      },
    ] as const;
    expect(planComment({ diagnostics: [...diagnostics] })).toBe(
      `${COMMENT_MARKER}\n### Obsiac: the model has 1 error\n\n- **error** \`m.yaml:3\` There is no \\\`x\\\` &lt;b&gt;@\u200ball&lt;/b&gt; (\`field/unknown\`)\n`,
    );
  });

  it('stays within the limit and counts what it leaves out', () => {
    const comment = planComment({ plan: report(largePlan(5000)), diagnostics: [] });
    expect(comment.length).toBeLessThanOrEqual(COMMENT_LIMIT);
    expect(comment).toContain('**5,000 objects will be deleted from the service.**');
    const listed = comment.match(/^- delete /gm)?.length ?? 0;
    const counted = /… and ([\d,]+) more deletions, not listed here/.exec(comment)?.[1]?.replaceAll(',', '');
    expect(listed + Number(counted)).toBe(5000);
    expect(comment).toMatch(/… and changes in [\d,]+ more alert managers, left out for length\./);
  });

  it('stays within the limit whatever the texts are', () => {
    const text = fc.string({ unit: 'binary', maxLength: 300 });
    fc.assert(
      fc.property(
        fc.array(text, { maxLength: 300 }),
        fc.integer({ min: 1, max: 400 }),
        text,
        (names, repeat, detail) => {
          const plan: Plan = {
            ...largePlan(repeat),
            drift: names.map((name) => ({ address: `a/alert_rules/${name}`, kind: 'alert_rule', what: 'changed' })),
            renames: names.map((name) => ({
              kind: 'alert_rule',
              from: `a/alert_rules/${name}`,
              to: `a/alert_rules/${name}2`,
            })),
          };
          const diagnostics = names.map(
            (name) => ({ severity: 'warning', code: name, summary: name, detail: name.repeat(repeat) }) as const,
          );
          const failure = { code: 'x', summary: detail.repeat(repeat), detail: detail.repeat(repeat) };
          const comment = planComment({ plan: report(plan), diagnostics, failure });
          expect(comment.length).toBeLessThanOrEqual(COMMENT_LIMIT);
          expect(comment.startsWith(COMMENT_MARKER)).toBe(true);
          expect(comment.split(COMMENT_MARKER)).toHaveLength(2);
        },
      ),
      { numRuns: 30 },
    );
  });
});

describe('an apply', () => {
  const outcome = {
    address: 'checkout/alert_rules/Many errors',
    kind: 'alert_rule',
    action: 'create',
    ms: 12,
    id: 'r-1',
  } as const;
  const failed = { ...outcome, reason: 'The service refused it: total_minutes is above 60.' };

  it.for([
    [{ type: 'done', outcome, finished: 1, total: 3 }, 'checkout/alert_rules/Many errors: created\n'],
    [
      { type: 'failed', outcome: failed, finished: 1, total: 3 },
      'checkout/alert_rules/Many errors: failed: The service refused it: total_minutes is above 60.\n',
    ],
    [{ type: 'done', outcome: { ...outcome, action: 'noop' }, finished: 1, total: 3 }, undefined],
    [{ type: 'start', outcome }, undefined],
  ] as const)('is a line for each finished operation %#', ([event, line]) => {
    expect(applyStep(event).human?.(PLAIN)).toBe(line);
  });

  it('is events', () => {
    const types = [
      { type: 'start', outcome } as const,
      { type: 'done', outcome, finished: 1, total: 3 } as const,
      { type: 'failed', outcome: failed, finished: 2, total: 3 } as const,
      { type: 'skipped', outcome: failed, finished: 3, total: 3 } as const,
    ].flatMap(
      (event) =>
        applyStep(event)
          .json?.()
          .map(({ type }) => type) ?? [],
    );
    expect(types).toEqual([
      'apply_start',
      'apply_complete',
      'apply_progress',
      'apply_errored',
      'apply_progress',
      'apply_skipped',
      'apply_progress',
    ]);
  });

  it('reports progress ten times, however many operations there are', () => {
    const events = Array.from(
      { length: 1234 },
      (_, index) => applyStep({ type: 'done', outcome, finished: index + 1, total: 1234 }).json?.() ?? [],
    ).flat();
    const progress = events.filter(({ type }) => type === 'apply_progress');
    expect(progress).toHaveLength(10);
    expect(progress.at(-1)).toMatchObject({ finished: 1234, total: 1234 });
  });

  it('ends with what was done', () => {
    const ended = applyEnded({ done: [outcome], failed: [], skipped: [], exit: 0 }, 'apply');
    expect(ended.human?.(PLAIN)).toBe('\nApply complete! Resources: 1 added, 0 changed, 0 destroyed.\n');
  });

  it('ends with what failed and what to do', () => {
    const many = Array.from({ length: 25 }, (_, index) => ({ ...failed, address: `checkout/alert_rules/${index}` }));
    const ended = applyEnded({ done: [outcome], failed: many, skipped: [failed], exit: 5 }, 'apply');
    expectGolden('apply-partial.golden.txt', ended.human?.(PLAIN) ?? '');
  });
});

describe('progressLine', () => {
  it('fits the page, whatever its width', () => {
    fc.assert(
      fc.property(
        fc.nat(100_000),
        fc.nat(100_000),
        fc.string(),
        fc.integer({ min: 20, max: 250 }),
        (done, rest, name, width) => {
          const style = { ...PLAIN, width };
          const line = progressLine(done, done + rest, name, style);
          expect(line.length).toBeLessThan(Math.max(width, 20));
          expect(line).not.toContain('\n');
        },
      ),
    );
  });

  it('shows how far it is', () => {
    expect(progressLine(50, 100, 'a/alert_rules/b', { ...PLAIN, width: 80 })).toBe(
      '[====================>                   ] 50/100  a/alert_rules/b',
    );
    expect(progressLine(100, 100, '', { ...PLAIN, width: 80 })).toBe(
      '[========================================] 100/100  ',
    );
  });
});

describe('diffLines', () => {
  const text = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 12 }).map((lines) => lines.join('\n'));
  it('has every line of both sides, in order', () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        const lines = diffLines(before, after);
        const side = (sign: '+' | '-') => lines.filter((line) => line.sign !== sign).map((line) => line.text);
        expect(side('+').join('\n')).toBe(before);
        expect(side('-').join('\n')).toBe(after);
      }),
    );
  });

  it('leaves out what is far from a change', () => {
    const before = Array.from({ length: 20 }, (_, index) => `line ${index}`).join('\n');
    const shown = withContext(diffLines(before, before.replace('line 10', 'line ten')), 2);
    expect(shown.map(({ sign, text: line }) => `${sign} ${line}`)).toEqual([
      '  … 8 unchanged lines',
      '  line 8',
      '  line 9',
      '- line 10',
      '+ line ten',
      '  line 11',
      '  line 12',
      '  … 7 unchanged lines',
    ]);
  });
});

describe('style', () => {
  it.for([
    [{ isTTY: true }, {}, false, true],
    [{ isTTY: false }, {}, false, false],
    [{}, {}, false, false],
    [{ isTTY: true }, { NO_COLOR: '1' }, false, false],
    [{ isTTY: true }, { NO_COLOR: '' }, false, true],
    [{ isTTY: true }, { TERM: 'dumb' }, false, false],
    [{ isTTY: true }, {}, true, false],
    [{}, { FORCE_COLOR: '1' }, false, true],
    [{}, { FORCE_COLOR: '0' }, false, false],
    [{ isTTY: true }, { FORCE_COLOR: '0' }, false, false],
    [{}, { FORCE_COLOR: '1', NO_COLOR: '1' }, false, false],
    [{}, { FORCE_COLOR: '3' }, true, false],
  ] as const)('colours %j %j %j: %j', ([output, env, noColor, expected]) => {
    expect(wantsColours(output, env, noColor)).toBe(expected);
  });

  it('wraps at words', () => {
    expect(wrap('one two three four', 9)).toBe('one two\nthree\nfour');
    expect(wrap('one two', 20, '  ')).toBe('  one two');
    expect(wrap('unbreakablelongword x', 10)).toBe('unbreakablelongword\nx');
  });

  it('makes control characters visible', () => {
    expect(harmless('a\u001b[31mb\nc')).toBe('a\\u001b[31mb\nc');
    expect(oneLine('a\n  b\tc')).toBe('a ⏎ b c');
  });
});
