// The frame of account pages that are no screens.

import type { Visit } from '../../../actors/session/index.ts'
import { type Html, html } from '../../../platform/html.ts'
import { t } from '../../../platform/language.ts'
import { menuOf } from '../screens/menu.ts'

/** The user, and what the role allows. */
interface Menu {
  visit: Visit
  mayCall: (visit: Visit, operation: string) => boolean
}

export const accountPage = (path: string, { visit, mayCall }: Menu, content: Html): Html =>
  html`<h1>${t('Your account')}</h1>
${menuOf({ path, menu: 'account' }, visit, (operation) => mayCall(visit, operation))}
${content}`
