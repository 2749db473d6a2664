/** Templates in what an alert says. */
export { type GroupMember, groupInput } from './group.ts';
export { type RenderedTemplate, renderTemplate, type TemplateInput } from './render.ts';
