export type { RemoteWatch } from './remote-views.ts'
export { makeViews, type Views } from './view.commands.ts'
export type { Section } from './watching.ts'
