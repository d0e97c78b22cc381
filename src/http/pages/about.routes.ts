// The about page.

import { type Html, html, rich } from '../../platform/html.ts'
import { type Localized, t } from '../../platform/language.ts'
import { bannerOf } from './bodies/picture.ts'
import { richText } from './bodies/rich-text.ts'
import { isContactable } from './screens/visitors.ts'
import { type PageTools, pageOptions } from './send.ts'

export function addAboutPages({ app, config, urls, facts, send }: PageTools): void {
  for (const path of ['/about', '/about/instance']) {
    app.get(path, pageOptions, async (request, reply) => {
      const { banners } = await facts.recent()
      return send(request, reply, { title: t('About'), body: aboutBody(banners[0]?.filename) })
    })
  }

  function aboutBody(banner: string | undefined): Html {
    const { instance } = config()
    const chapters: [Localized, string][] = [
      [t('Terms'), instance.terms],
      [t('Code of conduct'), instance.code_of_conduct],
      [t('Moderation'), instance.moderation_information],
      [t('Who runs this server'), instance.administrator],
      [t('Why it was made'), instance.creation_reason],
      [t('For how long'), instance.maintenance_lifetime],
      [t('How it is paid for'), instance.business_model],
      [t('Hardware'), instance.hardware_information],
    ]
    return html`${bannerOf(banner)}<h1>${rich('About {name}', { name: html`<bdi>${instance.name}</bdi>` })}</h1>
${instance.short_description && html`<p>${instance.short_description}</p>`}
${instance.description && ownText(instance.description)}
${isContactable(config()) && html`<p><a href="/about/contact">${t('Write to who runs this server')}</a></p>`}
${chapters.map(([title, text]) => text.trim() !== '' && html`<section><h2>${title}</h2>${ownText(text)}</section>`)}`
  }

  /** Texts by the operator are not truncated: people agree to the whole terms. */
  const ownText = (markdown: string): Html => richText(markdown, urls, { longest: Number.POSITIVE_INFINITY })
}
