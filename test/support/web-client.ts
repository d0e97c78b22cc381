// A small web client in the layout of a real build: four languages, an embed, files.

import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'

const head = '<!-- title tag -->\n<!-- description tag -->\n<!-- custom css tag -->\n<!-- meta tags -->\n<!-- server config -->'
const page = (locale: string) => `<!DOCTYPE html>
<html lang="${locale.slice(0, 2)}"><head><base href="/client/${locale}/">
${head}
<script>window.early = '${locale}'</script>
<link rel="stylesheet" href="styles-AB12CD34.css" media="print" onload="this.media='all'">
</head><body><script src="main-ZX81QWER.js" type="module"></script></body></html>
`

/** `Music`, the server's name of a category. */
const WORDS: Record<string, string> = { 'fr-FR': 'Musique', 'de-DE': 'Musik', ar: 'موسيقى' }

export const SCRIPT = 'globalThis.ran = true\n'.repeat(100)

/** Path of the client; tests remove its parent folder. */
export async function makeWebClient(): Promise<string> {
  const folder = join(await mkdtemp(join(tmpdir(), 'vireo-web-client-')), 'dist')
  const files = {
    'en-US/index.html': page('en-US'),
    'fr-FR/index.html': page('fr-FR'),
    'de-DE/index.html': page('de-DE'),
    'ar/index.html': page('ar'),
    ...Object.fromEntries(
      [...Object.keys(WORDS), 'pt-BR'].flatMap((locale) =>
        ['server', 'player'].map((file) => [`locale/${file}.${locale}.json`, JSON.stringify({ Music: WORDS[locale] ?? file })]),
      ),
    ),
    'fr-FR/main-ZX81QWER.js': SCRIPT,
    'fr-FR/main-ZX81QWER.js.gz': gzipSync(SCRIPT),
    'fr-FR/ngsw.json': '{}',
    'ngsw-worker.js': 'self.skipWaiting()',
    'assets/images/plain.txt': 'plain',
    'manifest.webmanifest': JSON.stringify({ display: 'fullscreen', name: 'of the build' }),
    'standalone/videos/embed.html': `<!DOCTYPE html><html><head>${head}</head><body></body></html>`,
  }
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), content)
  }
  return folder
}
