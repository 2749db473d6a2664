/** Every broken model of testdata/ gives exactly the golden text beside it. `UPDATE=1` rewrites the texts. */
import { describe, expect, test } from 'vitest';
import { checkModelFixture, expectGolden, modelFixtures, modelTexts, rendered } from '../../test/fixtures.ts';

describe('broken models', () => {
  for (const fixture of modelFixtures()) {
    test(fixture.name, () => {
      const texts = modelTexts(fixture);
      const diagnostics = checkModelFixture(fixture);
      expect(diagnostics).not.toEqual([]);
      expectGolden(
        fixture,
        rendered(diagnostics, (file) => texts.get(file)),
      );
    });
  }
});
