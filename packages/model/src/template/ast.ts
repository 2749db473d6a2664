/** A template as a tree. */
import type { Value } from './value.ts';

export type Node =
  | { readonly kind: 'text'; readonly content: string }
  | { readonly kind: 'print'; readonly pipeline: Pipeline; readonly line: number }
  | Branch
  | {
      readonly kind: 'range';
      readonly pipeline: Pipeline;
      readonly body: readonly Node[];
      readonly otherwise: readonly Node[];
      readonly line: number;
    }
  | { readonly kind: 'break' }
  | { readonly kind: 'continue' };

export interface Branch {
  readonly kind: 'if' | 'with';
  readonly pipeline: Pipeline;
  readonly body: readonly Node[];
  readonly otherwise: readonly Node[];
  readonly line: number;
}

/** `$a, $b := command | command` */
export interface Pipeline {
  /** Without their dollar signs; two only in a range. */
  readonly variables: readonly string[];
  /** True for `=`, false for `:=`. */
  readonly assigns: boolean;
  readonly commands: readonly Command[];
}

/** The first word and its arguments. */
export interface Command {
  readonly words: readonly [Operand, ...Operand[]];
}

export type Operand =
  | { readonly kind: 'value'; readonly value: Value }
  | { readonly kind: 'dot'; readonly fields: readonly string[] }
  | { readonly kind: 'variable'; readonly name: string; readonly fields: readonly string[] }
  | { readonly kind: 'function'; readonly name: string }
  | { readonly kind: 'group'; readonly pipeline: Pipeline; readonly fields: readonly string[] };
