/** The config file as a zod schema. */
import { z } from 'zod';
import { checkedText, filledText } from './text.ts';

/** Address of the hosted service's API. */
export const HOSTED_API = 'https://app.last9.io/api/v4';

/** Name of the state lock file when the config names none; it lies beside the config file. */
export const DEFAULT_STATE_FILE = 'obsiac-state.lock';

const tokenText = () =>
  checkedText(
    (text) =>
      text.trim() === ''
        ? { code: 'config/token', detail: 'is empty. Put in the refresh token of the API access page.' }
        : undefined,
    // The text itself is never repeated: it may be most of a token.
    (text) =>
      /[^\x21-\x7e]/.test(text)
        ? { code: 'config/token', detail: 'holds spaces or other characters that no token has. Copy it again.' }
        : undefined,
  );

const baseUrlText = () =>
  checkedText((text) => {
    const url = URL.parse(text);
    if (!url || !/^https?:$/.test(url.protocol)) {
      return { code: 'config/base-url', detail: `must be an http or https address, for example ${HOSTED_API}.` };
    }
    if (url.username !== '' || url.password !== '') {
      return { code: 'config/base-url', detail: 'must not hold a user name or password.' };
    }
    return url.search !== '' || url.hash !== ''
      ? { code: 'config/base-url', detail: 'must end with its path: remove what follows ? or #.' }
      : undefined;
  });

const orgText = () =>
  checkedText((text) =>
    /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/.test(text)
      ? undefined
      : {
          code: 'config/org',
          detail: 'must be the slug of the organization: what follows /organizations/ in the address of the dashboard.',
        },
  );

const accessSchema = z.strictObject({
  refresh_token: tokenText().describe(
    'Refresh token for this action, from the API access page. ${NAME} is replaced from the environment.',
  ),
  api_base_url: baseUrlText()
    .optional()
    .describe('Base address of the service API.')
    .meta({ default: HOSTED_API, examples: ['http://127.0.0.1:8080/api/v4'] }),
  org: orgText().describe('Organization slug: in the dashboard address after /organizations/.'),
});

const apiConfigSchema = z
  .strictObject({
    read: accessSchema.describe('Token for reading: all that plan needs.'),
    write: accessSchema.describe('Token for creating and changing.'),
    delete: accessSchema.describe('Token for deleting.'),
  })
  .describe('Access to the service, a token for each action.');

export const configSchema = z.strictObject({
  api_config: apiConfigSchema,
  state_lock_file_path: filledText()
    .optional()
    .describe(
      'Name or path of the state lock file, in the directory of the model and config. A bare name lies beside the config file; a relative path starts at the working directory.',
    )
    .meta({ default: DEFAULT_STATE_FILE }),
});

/** The wider form, in which several tools share one file. Other keys beside `iac_config` are not looked at. */
export const IAC_CONFIG_KEY = 'iac_config';

export type ConfigInput = z.infer<typeof configSchema>;
