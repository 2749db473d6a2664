/** The way between the model's types and the wire's, exact in both directions. */
export * from './alert-rule.ts';
export * from './channel.ts';
export * from './condition.ts';
export * from './entity.ts';
export * from './expression.ts';
export * from './indicator.ts';
