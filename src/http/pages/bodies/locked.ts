// Asks for the password of a video, without revealing anything about it.

import { z } from 'zod'
import { html } from '../../../platform/html.ts'
import { t } from '../../../platform/language.ts'
import type { Answer, PageTools } from '../send.ts'

/** A password that is too long is wrong as well. */
export const passwordForm = z.object({ password: z.string().max(500).catch('') })

/** The form posts to the address of the page itself. */
export const lockedPage = ({ hiddenHead }: PageTools, { isWrong }: { isWrong: boolean }): Answer => ({
  status: 403,
  ...hiddenHead(),
  title: t('Password needed'),
  body: html`<section class="locked">
<h1>${t('This video needs a password')}</h1>
<p>${t('Whoever sent you here can tell you what it is.')}</p>
<form method="post"><label>${t('Password')}<input type="password" name="password" required autocomplete="off" maxlength="500"${
    isWrong && html` aria-invalid="true" aria-describedby="wrong"`
  }></label><button>${t('Watch')}</button></form>
${isWrong && html`<p id="wrong" role="alert" class="wrong">${t('That is not the password of this video.')}</p>`}
</section>`,
})
