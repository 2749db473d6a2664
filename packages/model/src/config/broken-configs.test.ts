/** Every broken config of testdata/ gives exactly the golden text beside it, and never a token. `UPDATE=1` rewrites. */
import { describe, expect, test } from 'vitest';
import { checkConfigFixture, configFixtures, expectGolden, rendered } from '../../test/fixtures.ts';
import { hasErrors } from '../diagnostic.ts';

describe('broken configs', () => {
  for (const fixture of configFixtures()) {
    test(fixture.name, () => {
      const { config, diagnostics, shownText } = checkConfigFixture(fixture);
      expect(diagnostics).not.toEqual([]);
      expect(config === null).toBe(hasErrors(diagnostics));
      const text = rendered(diagnostics, () => shownText);
      expect(text).not.toMatch(/secret-|12345678901|eyJ/);
      expectGolden(fixture, text);
    });
  }
});
