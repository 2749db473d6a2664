/** Random numbers that a seed decides, for traffic that can be made again. */

export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
  /** Whole number in [0, below). */
  below(below: number): number;
  /** True with the given probability. */
  chance(probability: number): boolean;
  pick<Item>(items: readonly Item[]): Item;
  /** Log-normal with the given median; `spread` is the standard deviation of the logarithm. */
  around(median: number, spread: number): number;
  /** Lower-case hex digits. */
  hex(digits: number): string;
}

/** xoshiro128** (Blackman and Vigna), seeded by splitmix32 of the seed. */
export function createRandom(seed: number): Random {
  let mix = seed >>> 0;
  const splitmix = () => {
    mix = (mix + 0x9e3779b9) >>> 0;
    let z = mix;
    z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
    return (z ^ (z >>> 15)) >>> 0;
  };
  let [a, b, c, d] = [splitmix(), splitmix(), splitmix(), splitmix()];
  const bits = () => {
    const product = Math.imul(b, 5);
    const result = Math.imul((product << 7) | (product >>> 25), 9) >>> 0;
    const shifted = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = (d << 11) | (d >>> 21);
    return result;
  };
  const next = () => bits() / 4294967296;
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    next,
    below,
    chance: (probability) => next() < probability,
    pick: (items) => items[below(items.length)] as (typeof items)[number],
    around: (median, spread) =>
      median * Math.exp(spread * Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next())),
    hex: (digits) => {
      let text = '';
      while (text.length < digits) text += bits().toString(16).padStart(8, '0');
      return text.slice(0, digits);
    },
  };
}

/** Picks with Zipf's law over the order of the items: the first is the most common. */
export function createZipf<Item>(items: readonly Item[], random: Random, exponent = 1): () => Item {
  const cumulative: number[] = [];
  let total = 0;
  for (let rank = 1; rank <= items.length; rank += 1) {
    total += 1 / rank ** exponent;
    cumulative.push(total);
  }
  return () => {
    const target = random.next() * total;
    let low = 0;
    let high = items.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((cumulative[middle] as number) > target) high = middle;
      else low = middle + 1;
    }
    return items[low] as Item;
  };
}
