import { describe, expect, it } from 'vitest';
import type { CommandEntry, CommandNode } from '../commands/command.ts';
import { findCommand } from './find-command.ts';
import { COMMON_OPTIONS, CONCURRENCY, CONFIG, LOCK_TIMEOUT, MODEL_FILE, type Option, YES } from './option.ts';
import { mentionedText, mentions, parseArguments } from './parse.ts';
import { durationInMs } from './value.ts';

const OUT: Option = { name: 'out', value: 'FILE', summary: '' };
const options = [MODEL_FILE, CONFIG, YES, CONCURRENCY, LOCK_TIMEOUT, OUT, ...COMMON_OPTIONS];
const accepts = { options, positionals: [{ name: 'FILE', required: false, summary: '' }] };

const load = () => Promise.reject(new Error('not loaded in this test'));
const entry = (name: string): CommandEntry => ({ name, summary: '', load });
const tree: readonly CommandNode[] = [
  entry('plan'),
  entry('apply'),
  { name: 'state', summary: '', commands: [entry('list'), entry('show')] },
];

/** Every order and spelling of the same command line. */
const SAME = [
  '-mf m.yaml -c c.json plan',
  '-c c.json -mf m.yaml plan',
  'plan -mf m.yaml -c c.json',
  'plan -c c.json -mf m.yaml',
  '-mf m.yaml plan -c c.json',
  '-c c.json plan -mf m.yaml',
  '-mf=m.yaml -c=c.json plan',
  'plan -mf=m.yaml -c=c.json',
  '--mf m.yaml --c c.json plan',
  '--model-file m.yaml --config c.json plan',
  '--model-file=m.yaml plan --config=c.json',
  '-model-file m.yaml -config c.json plan',
  'plan -model-file=m.yaml -config=c.json',
];

describe('the documented form', () => {
  it.for(SAME)('obsiac %s', (line) => {
    const found = findCommand(tree, line.split(' '));
    expect(found).toMatchObject({ kind: 'command', path: ['plan'] });
    const { args, problems } = parseArguments(accepts, found.kind === 'command' ? found.rest : []);
    expect(problems).toEqual([]);
    expect(args.texts('model-file')).toEqual(['m.yaml']);
    expect(args.text('config')).toBe('c.json');
    expect(args.positional(0)).toBeUndefined();
  });
});

describe('findCommand', () => {
  const path = (line: string) => {
    const found = findCommand(tree, line.split(' ').filter(Boolean));
    return found.kind === 'unknown' ? found.problem.sentence : `${found.kind} ${found.path.join(' ')}`.trim();
  };
  it.for([
    ['', 'group'],
    ['-mf plan', 'group'],
    ['-mf plan plan', 'command plan'],
    ['-mf=plan apply', 'command apply'],
    ['state', 'group state'],
    ['state list', 'command state list'],
    ['-c x state -mf y show ADDRESS', 'command state show'],
    ['state -c x list', 'command state list'],
    ['--unknown plan', 'command plan'],
    ['--unknown value plan', 'command plan'],
    ['--unknown=value plan', 'command plan'],
    ['-y apply', 'command apply'],
    ['--json plan', 'command plan'],
    ['plna', 'There is no command "plna".'],
    ['state plan', 'There is no command "state plan".'],
    ['-- plan', 'group'],
  ])('%s', ([line = '', expected]) => {
    expect(path(line)).toBe(expected);
  });
});

describe('parseArguments', () => {
  const problemsOf = (line: string) =>
    parseArguments(accepts, line.split(' ')).problems.map(({ sentence }) => sentence);
  it.for([
    ['--nope', 'There is no flag --nope here.'],
    ['-x', 'There is no flag -x here.'],
    ['-out', '--out needs a value: --out FILE.'],
    ['-out --json', '--out needs a value: --out FILE.'],
    ['-out=', '--out needs a value; it is empty.'],
    ['-c a -c b', '-c is given twice; it takes one value.'],
    ['--concurrency -1', '--concurrency needs a whole number; "-1" is none.'],
    ['--concurrency 1.5', '--concurrency needs a whole number; "1.5" is none.'],
    ['--lock-timeout 5', '--lock-timeout needs a duration such as 30s, 5m or 1h30m; "5" is none.'],
    ['--yes=no', '--yes is a switch: leave "=no" out.'],
    ['a b', '"b" is one argument too many.'],
  ])('%s', ([line = '', expected]) => {
    expect(problemsOf(line)).toEqual([expected]);
  });

  it('collects every problem', () => {
    expect(problemsOf('--nope --concurrency x -out')).toHaveLength(3);
  });

  it('reads values', () => {
    const words = [
      '-mf',
      'a',
      '-mf=b',
      '-y',
      '--lock-timeout',
      '1h30m',
      '--concurrency=8',
      '-out',
      '-',
      '--',
      '--json',
    ];
    const { args, problems } = parseArguments(accepts, words);
    expect(problems).toEqual([]);
    expect(args.texts('model-file')).toEqual(['a', 'b']);
    expect(args.has('yes')).toBe(true);
    expect(args.has('json')).toBe(false);
    expect(args.number('lock-timeout')).toBe(5_400_000);
    expect(args.number('concurrency')).toBe(8);
    expect(args.text('out')).toBe('-');
    expect(args.positional(0)).toBe('--json');
  });

  it('keeps everything after the first equals sign', () => {
    expect(parseArguments(accepts, ['-out=a=b c']).args.text('out')).toBe('a=b c');
  });

  it.for(['-y', '--yes', '-yes', '--auto-approve', '-auto-approve', '--yes=true'])('approves with %s', (flag) => {
    expect(parseArguments(accepts, [flag]).args.has('yes')).toBe(true);
  });

  it('takes a switch back with =false', () => {
    expect(parseArguments(accepts, ['--yes', '--yes=false']).args.has('yes')).toBe(false);
  });
});

describe('durationInMs', () => {
  it.for([
    ['0', 0],
    ['0s', 0],
    ['500ms', 500],
    ['30s', 30_000],
    ['5m', 300_000],
    ['1h30m', 5_400_000],
    ['5', null],
    ['-5s', null],
    ['5 s', null],
    ['soon', null],
    ['', null],
  ] as const)('%s', ([text, expected]) => {
    expect(durationInMs(text)).toBe(expected);
  });
});

describe('what a command line mentions, before it is read', () => {
  it.for([
    ['plan --json', true],
    ['plan -json', true],
    ['plan --json=true', true],
    ['plan --json=false', false],
    ['plan -- --json', false],
    ['plan', false],
  ] as const)('%s', ([line, expected]) => {
    expect(mentions(line.split(' '), 'json')).toBe(expected);
  });

  it('finds a value', () => {
    expect(mentionedText(['plan', '--json-into', 'f'], 'json-into')).toBe('f');
    expect(mentionedText(['plan', '-json-into=f'], 'json-into')).toBe('f');
    expect(mentionedText(['plan', '--json-into'], 'json-into')).toBeUndefined();
    expect(mentionedText(['plan', '--json-into', '--json'], 'json-into')).toBeUndefined();
    expect(mentionedText(['plan'], 'json-into')).toBeUndefined();
  });
});
