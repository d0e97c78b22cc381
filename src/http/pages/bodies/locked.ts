// Asks for the password of a video, without revealing anything about it.

import { type Html, html } from '../../../platform/html.ts'
import { t } from '../../../platform/language.ts'

/** Posts to the address of the page itself. */
export const lockedBody = ({ isWrong }: { isWrong: boolean }): Html => html`<section class="locked">
<h1>${t('This video needs a password')}</h1>
<p>${t('Whoever sent you here can tell you what it is.')}</p>
<form method="post"><label>${t('Password')}<input type="password" name="password" required autocomplete="off" maxlength="500"${
  isWrong && html` aria-invalid="true" aria-describedby="wrong"`
}></label><button>${t('Watch')}</button></form>
${isWrong && html`<p id="wrong" role="alert" class="wrong">${t('That is not the password of this video.')}</p>`}
</section>`
