/** The model file as zod schemas: the parser checks with them and the JSON Schema for editors is made from them. */
import { z } from 'zod';
import { DEFAULTS, SEVERITIES } from '../model.ts';
import { filledText, freeText, linkText, nameText, slugText, wordText, writtenText } from './text.ts';

/** Spelling of the channel types in documentation; a model may use any case. */
export const CHANNEL_TYPE_NAMES = ['Slack', 'Pagerduty', 'OpsGenie'] as const;

/** The longest window an evaluation looks back, in minutes. */
const LONGEST_WINDOW = 1440;

const severity = () => z.enum(SEVERITIES);
const textMap = () => z.record(z.string(), writtenText());

export const adhocFilterSchema = z
  .strictObject({
    labels: textMap().describe('Label names and values, added as matchers to every selector of the queries.'),
    data_source: nameText().optional().describe("The data source whose queries are filtered. Default: the entity's."),
  })
  .describe('Common rule filters: matchers for all indicators of this alert manager.');

const threshold = (sign: string) =>
  z
    .number()
    .optional()
    .describe(`A minute is bad when the value of the indicator is ${sign} this. A rule has exactly one threshold.`);

export const alertRuleSchema = z
  .strictObject({
    name: nameText().describe('Describes the alert. Unique within the alert manager.'),
    indicator: nameText().describe('Name of an indicator of this alert manager.'),
    bad_minutes: z
      .int()
      .min(1)
      .max(LONGEST_WINDOW)
      .describe('Minutes the indicator must be in a bad state before alerting.'),
    total_minutes: z
      .int()
      .min(1)
      .max(LONGEST_WINDOW)
      .describe('Minutes the indicator is sampled over. At least bad_minutes; the hosted service takes at most 60.'),
    description: freeText()
      .optional()
      .describe('Text in the alert payload; may be a template. Unique within the alert manager.'),
    expression: freeText()
      .optional()
      .describe('Pattern alerts only: macro(tolerance, indicator name), for example high_spike(2, 5xx Status).')
      .meta({ examples: ['high_spike(2, 5xx Status)'] }),
    greater_than: threshold('greater than'),
    greater_than_eq: threshold('greater than or equal to'),
    less_than: threshold('less than'),
    less_than_eq: threshold('less than or equal to'),
    equal_to: threshold('equal to'),
    not_equal: threshold('not equal to'),
    group_timeseries_notifications: z
      .boolean()
      .optional()
      .describe('One notification for all impacted series of the rule.')
      .meta({ default: DEFAULTS.group_timeseries_notifications }),
    is_disabled: z.boolean().optional().describe('Neither evaluated nor notified.').meta({ default: false }),
    label_filter: textMap()
      .optional()
      .describe('Variables of the indicator query ($name) and their values for this rule.'),
    mute: z.boolean().optional().describe('Evaluated, but not notified.').meta({ default: false }),
    runbook: z
      .strictObject({ link: linkText().describe('Address of the runbook, in the alert payload.') })
      .optional()
      .describe('What to do when the alert fires.'),
    severity: severity()
      .optional()
      .describe('breach: already broken, most urgent. threat: early warning.')
      .meta({ default: DEFAULTS.severity }),
    annotations: textMap().optional().describe('Free-form keys and texts in the alert payload; may be templates.'),
  })
  .describe('When to alert on an indicator.');

export const indicatorSchema = z
  .strictObject({
    name: nameText().describe('Name of the indicator. Unique within the alert manager.'),
    query: filledText().describe('PromQL. $name in a matcher value is a variable that label_filter of a rule binds.'),
    data_source: nameText().optional().describe("Name of the data source. Default: the entity's."),
    description: freeText().optional().describe('What the indicator shows.'),
    unit: freeText()
      .optional()
      .describe('Unit of the value, free text.')
      .meta({ default: DEFAULTS.unit, examples: ['percent', 'ms'] }),
    type: z.unknown().optional().describe('Accepted from older models and ignored.').meta({ deprecated: true }),
  })
  .describe('A value over time that alert rules watch.');

export const linkSchema = z.strictObject({
  name: filledText().describe('Display name.'),
  url: linkText().describe('Web address.'),
});

export const channelSchema = z
  .strictObject({
    name: nameText().describe('Name of a channel that exists in the service.'),
    type: wordText(CHANNEL_TYPE_NAMES, 'a channel type').describe('Type of the channel.'),
    mention: z
      .union([nameText(), z.array(nameText())])
      .optional()
      .describe('Slack only: users tagged in the alert message.'),
    severity: severity().optional().describe('Rules of this severity notify the channel. Default: both severities.'),
  })
  .describe('A notification channel of the service.');

export const entitySchema = z
  .strictObject({
    name: nameText().describe('Name of the alert manager.'),
    type: filledText()
      .describe('Type of the entity; any text.')
      .meta({ examples: ['service_alert_manager'] }),
    external_ref: slugText()
      .describe('Unique identifier of the alert manager: a slug. It stays the same when the name changes.')
      .meta({ pattern: '^[a-z0-9]([a-z0-9_-]*[a-z0-9])?$' }),
    adhoc_filter: adhocFilterSchema.optional(),
    alert_rules: z.array(alertRuleSchema).optional().describe('Alert rules.'),
    data_source: nameText().optional().describe('Name of the data source of the indicators.'),
    data_source_id: nameText().optional().describe('Id of the data source; decides when data_source is given too.'),
    description: freeText().optional().describe('What the alert manager watches.'),
    entity_class: z
      .enum([DEFAULTS.entity_class])
      .optional()
      .describe('Class of the entity.')
      .meta({ default: DEFAULTS.entity_class }),
    indicators: z.array(indicatorSchema).optional().describe('Indicators that the alert rules refer to.'),
    labels: textMap().optional().describe('Group label names and values.'),
    links: z.array(linkSchema).optional().describe('Links shown with the alert manager.'),
    namespace: freeText().optional().describe('Namespace.'),
    notification_channels: z
      .union([nameText(), z.array(z.union([nameText(), channelSchema]))])
      .optional()
      .describe('Channels for the rules of this alert manager: names, or objects with type, severity and mention.'),
    tags: z.array(writtenText()).optional().describe('Tags.'),
    team: freeText().optional().describe('Owning team.').meta({ default: DEFAULTS.team }),
    tier: freeText().optional().describe('Tier.'),
    ui_readonly: z.boolean().optional().describe('Disables edits from the dashboard.').meta({ default: false }),
    workspace: freeText().optional().describe('Workspace.'),
  })
  .describe('An alert manager.');

const movedSchema = z
  .strictObject({
    from: filledText().describe(
      'The address before: external_ref, external_ref/indicators/NAME or external_ref/alert_rules/NAME.',
    ),
    to: filledText().describe('The address now.'),
  })
  .describe('A rename: the object keeps its id and its history.');

/** The top level. Keys that start with `x-` are free, for YAML anchors. */
export const modelSchema = z.strictObject({
  entities: z.array(entitySchema).describe('Alert managers.'),
  moved: z.array(movedSchema).optional().describe('Confirmed renames.'),
});

export type EntityInput = z.infer<typeof entitySchema>;
export type AlertRuleInput = z.infer<typeof alertRuleSchema>;
