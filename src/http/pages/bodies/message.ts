// The administrator's broadcast message, such as planned maintenance.

import type { Config } from '../../../config/index.ts'
import { type Html, html } from '../../../platform/html.ts'
import { t } from '../../../platform/language.ts'
import type { Here } from '../../videos/actor.view.ts'
import { richText } from './rich-text.ts'

/** Bytes of HTML: it is on every page. */
const LONGEST = 8000

/** Undefined without a message. It cannot be dismissed, since nothing stores that without a script. */
export function messageOf({ enabled, message, level }: Config['broadcast_message'], here: Here): Html | undefined {
  if (!enabled || message.trim() === '') return undefined
  return html`<aside class="notice ${level}" aria-label="${t('Message of this server')}">${richText(message, here, { longest: LONGEST })}</aside>
`
}
