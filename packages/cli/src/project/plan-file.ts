/** Saved plans on disk: written by `plan -out`, carried out by `apply FILE`. */
import { rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { planFromJson, planToJson, type SavedPlan } from '@obsiac/model';
import { sha256 } from '../digest.ts';
import { EXIT } from '../exit-code.ts';
import { Failure } from '../failure.ts';
import { reasonFor } from './file-reason.ts';
import { readFileBytes } from './read-file.ts';

/** A plan of 10,000 rules takes some 15 MB. */
const MOST_PLAN_BYTES = 512 * 1024 * 1024;

/** Writes beside the file and renames, so that a cut write leaves no half plan. For the owner alone: it holds queries. */
export async function savePlanFile(file: string, cwd: string, saved: SavedPlan): Promise<void> {
  const absolute = path.resolve(cwd, file);
  const temporary = `${absolute}.${process.pid}.tmp`;
  try {
    await writeFile(temporary, planToJson(saved, sha256), { mode: 0o600 });
    await rename(temporary, absolute);
  } catch (error) {
    await rm(temporary, { force: true });
    throw new Failure(EXIT.error, {
      code: 'plan_file_unwritable',
      summary: `The plan cannot be saved in ${file}`,
      detail: reasonFor(error as NodeJS.ErrnoException),
    });
  }
}

/** Reads a saved plan; throws `Failure` when it is none or was damaged. */
export async function loadPlanFile(file: string, cwd: string): Promise<SavedPlan> {
  const text = await readPlanText(file, path.resolve(cwd, file));
  const loaded = planFromJson(text, sha256);
  if (loaded.error !== undefined) {
    throw new Failure(EXIT.invalid, {
      code: `plan_file_${loaded.error.code.replaceAll('-', '_')}`,
      summary: `${file} cannot be applied`,
      detail: loaded.error.message,
    });
  }
  return loaded;
}

async function readPlanText(file: string, absolute: string): Promise<string> {
  try {
    return new TextDecoder().decode(await readFileBytes(absolute, MOST_PLAN_BYTES));
  } catch (error) {
    throw new Failure(EXIT.invalid, {
      code: 'plan_file_unreadable',
      summary: `The plan file ${file} cannot be read`,
      detail: reasonFor(error as NodeJS.ErrnoException),
    });
  }
}
