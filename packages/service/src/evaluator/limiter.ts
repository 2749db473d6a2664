/** So many at a time; the others wait in the order in which they came. */

export interface Limiter {
  run<T>(work: () => Promise<T>): Promise<T>;
}

export function createLimiter(most: number): Limiter {
  let free = most;
  const waiting: (() => void)[] = [];
  return {
    run: async (work) => {
      if (free > 0) free -= 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      try {
        return await work();
      } finally {
        const next = waiting.shift();
        if (next) next();
        else free += 1;
      }
    },
  };
}
