/** The public entry: what end-to-end tests and benchmarks start in their own process. */
export { type Address, type App, type AppOptions, createApp, ListenError } from './app.ts';
export { type Settings, settingsSchema } from './settings/definition.ts';
export { loadSettings, SettingsError } from './settings/load.ts';
