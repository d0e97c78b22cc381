// Imports from other sites: yt-dlp exists, runs, and is recent enough for sites that change every month.

import { join } from 'node:path'
import { checkYtDlp, findSandbox, isSafeYtDlp, OLDEST_SAFE_YT_DLP } from '../../media/index.ts'
import type { Check } from './check.ts'

const DAY_MS = 86_400_000
/** Days. */
const OLD = 180

export const importsCheck: Check = {
  name: 'imports',
  limit: 20_000,
  async run({ loaded, env }, say) {
    const { storage } = loaded.config
    const { http } = loaded.config.import.videos
    if (!http.enabled) return say.ok('Videos are not imported by URL, so that yt-dlp is not needed.')
    const { name, python_path: pythonPath } = http.youtube_dl_release
    const found = await checkYtDlp({ folder: storage.bin, name, pythonPath, path: env.PATH })
    if (!found) {
      return say.warning(
        'There is no yt-dlp: only media files are imported by their own address, and no channels of other sites.',
        `Install yt-dlp on PATH or put it to ${join(storage.bin, name)}, or disable import.videos.http.`,
      )
    }
    const { path, version } = found
    if (version === undefined) {
      return say.problem(`yt-dlp does not run (${path}).`, `See the output of \`${path} --version\`; it requires Python 3.`)
    }
    if (!isSafeYtDlp(version)) {
      return say.problem(
        `yt-dlp ${version} (${path}) has known security holes, and is not run: pages could reach internal addresses with it.`,
        `Install ${OLDEST_SAFE_YT_DLP} or later, from GitHub or the Python Package Index where the distribution has none.`,
      )
    }
    say.ok(`yt-dlp ${version} (${path}).`)
    if (await findSandbox({ pythonPath, path: env.PATH })) {
      say.ok('yt-dlp runs in a network namespace, and reaches nothing but the guarded proxy.')
    } else {
      say.warning(
        'This system permits no sandbox for yt-dlp: only its version and its options keep it away from internal addresses.',
        'Permit user and network namespaces to the server (docs/operations.md), or block internal addresses by a firewall.',
      )
    }
    if (daysSince(version) > OLD)
      say.warning(`yt-dlp ${version} is old: sites change, and newer releases close security holes.`, 'Bring it up to date.')
  },
}

/** Its versions are dates. */
function daysSince(version: string): number {
  const [, year, month, day] = /^(\d{4})\.(\d\d?)\.(\d\d?)\b/.exec(version) ?? []
  return day === undefined ? 0 : (Date.now() - Date.UTC(Number(year), Number(month) - 1, Number(day))) / DAY_MS
}
