/** Sums that do not lose small terms: Kahan's summation with Neumaier's improvement, as Prometheus sums. */

/**
 * A running sum. `c` carries what `sum` could not hold; the result is `total(k)`. Mutable, so that one can be reused
 * for each window without a new object.
 */
export interface Kahan {
  sum: number;
  c: number;
}

export function kahan(): Kahan {
  return { sum: 0, c: 0 };
}

export function add(k: Kahan, term: number): void {
  const { sum } = k;
  const t = sum + term;
  if (t === Number.POSITIVE_INFINITY || t === Number.NEGATIVE_INFINITY) k.c = 0;
  else if (Math.abs(sum) >= Math.abs(term)) k.c += sum - t + term;
  else k.c += term - t + sum;
  k.sum = t;
}

export function total(k: Kahan): number {
  return k.sum + k.c;
}
