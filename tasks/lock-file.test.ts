import { describe, expect, test } from 'vitest';
import { missingOptional, readLockFile } from './lock-file.ts';

describe('package-lock.json', () => {
  test('has every optional package, so that npm ci takes it on every platform (node tasks/lock-file.ts completes it)', () => {
    expect(missingOptional(readLockFile()).map(({ name }) => name)).toEqual([]);
  });

  test('names no registry: every machine uses its own', () => {
    const resolved = Object.values(readLockFile().packages).flatMap(({ link, resolved: from }) =>
      from && !link ? [from] : [],
    );
    expect(resolved).toEqual([]);
  });
});
