/** The kinds of text that fields of the model and the config hold, as zod schemas that name the problem code. */
import { z } from 'zod';
import type { Code } from '../check/codes.ts';
import { nearest, quote } from '../check/nearest.ts';

/** What a check of our own found: carried through zod as `params` of a custom issue. */
export interface TextProblem {
  readonly code: Code;
  /** A full sentence that follows the name of the field: `name ` + `must not be blank.` */
  readonly detail: string;
}

type TextCheck = (text: string) => TextProblem | undefined;

/** A string schema with checks of our own; only the first that fails is reported. */
export function checkedText(...checks: readonly TextCheck[]): z.ZodString {
  return z.string().check((context) => {
    for (const check of checks) {
      const found = check(context.value);
      if (found) {
        context.issues.push({ code: 'custom', input: context.value, params: { ...found }, message: found.detail });
        return;
      }
    }
  });
}

/** Tab, newline and return are the only control characters in a text; half a surrogate pair cannot be stored. */
const storable: TextCheck = (text) =>
  /[^\P{Cc}\t\n\r]/u.test(text) || !text.isWellFormed()
    ? { code: 'field/characters', detail: 'holds control characters or half a character. Remove them.' }
    : undefined;

const notBlank: TextCheck = (text) =>
  text.trim() === '' ? { code: 'field/format', detail: 'must not be blank.' } : undefined;

const oneTrimmedLine: TextCheck = (text) => {
  if (text !== text.trim()) {
    return { code: 'field/format', detail: `must not start or end with white space, as ${quote(text)} does.` };
  }
  return /\p{Cc}/u.test(text)
    ? { code: 'field/characters', detail: 'is a name and must be one line without control characters.' }
    : undefined;
};

// The one name that JavaScript objects, and so the state file, cannot hold as a key.
const notReserved: TextCheck = (text) =>
  text === '__proto__'
    ? { code: 'field/format', detail: 'must not be "__proto__", which is a reserved word.' }
    : undefined;

const SLUG = /^[a-z0-9](?:[a-z0-9_-]*[a-z0-9])?$/;
const SLUG_LIMIT = 255;

/** The slug nearest to a text; empty when the text has no letter or digit that a slug can have. */
export function slugOf(text: string): string {
  const plain = text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  return plain
    .replaceAll('ß', 'ss')
    .replace(/[^a-z0-9_]+/g, '-')
    .replace(/^[-_]+|[-_]+$/g, '');
}

const slug: TextCheck = (text) => {
  if (text.length > SLUG_LIMIT) {
    return { code: 'entity/external-ref', detail: `is longer than ${SLUG_LIMIT} characters.` };
  }
  if (SLUG.test(text)) return undefined;
  const near = slugOf(text.slice(0, SLUG_LIMIT));
  const hint = near === '' ? 'For example: payments-api.' : `For example: ${near}.`;
  return {
    code: 'entity/external-ref',
    detail: `${quote(text)} is not a slug: use lower-case letters, digits, hyphens and underscores, and start and end with a letter or digit. ${hint}`,
  };
};

// Templates are allowed, so this does not ask for a whole address; it refuses what a browser would run.
const harmlessLink: TextCheck = (text) =>
  /^\s*(javascript|data|vbscript):/i.test(text)
    ? { code: 'field/format', detail: 'must be a web address; script and data addresses are refused.' }
    : undefined;

/** Any text, empty included. */
export const freeText = (): z.ZodString => checkedText(storable);

/** A text that says something. */
export const filledText = (): z.ZodString => checkedText(notBlank, storable);

/** A name that people and addresses refer to: one line, not blank, no space around it. */
export const nameText = (): z.ZodString => checkedText(notBlank, oneTrimmedLine, storable, notReserved);

export const slugText = (): z.ZodString => checkedText(notBlank, slug);

export const linkText = (): z.ZodString => checkedText(notBlank, storable, harmlessLink);

/** A fixed set of words, matched without regard to case. */
export function wordText(words: readonly string[], what: string): z.ZodString {
  return checkedText((text) => {
    if (words.some((word) => word.toLowerCase() === text.toLowerCase())) return undefined;
    const near = nearest(text, words);
    const hint = near === undefined ? '' : ` Did you mean ${near}?`;
    return { code: 'field/value', detail: `${quote(text)} is not ${what}. It is one of ${words.join(', ')}.${hint}` };
  });
}

/** A text where YAML may also give a number or a boolean: taken as it is written, so `1.10` stays `1.10`. */
export const writtenText = () => z.union([freeText(), z.number(), z.boolean()]);
