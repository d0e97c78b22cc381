// Fake ffmpeg and ffprobe of any version, which report their capabilities and do nothing.

import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryFolder } from './media.ts'

/** A folder with scripts that answer like an ffmpeg with these encoders. */
export async function fakeTools(encoders: string[], version = '8.1.2'): Promise<string> {
  const folder = await temporaryFolder()
  const table = encoders.map((name) => ` V..... ${name}   something`).join('\n')
  const script = `#!/bin/sh
case "$2" in
  -version) echo "ffmpeg version ${version} Copyright (c) 2000-2025 the FFmpeg developers" ;;
  -encoders) cat <<'END'
${table}
END
  ;;
  -filters) echo " ... scale V->V x" ;;
  -h) echo "-fps_mode[:<stream_spec>]  set framerate mode for matching video streams" ;;
esac
`
  for (const name of ['ffmpeg', 'ffprobe']) {
    await writeFile(join(folder, name), script)
    await chmod(join(folder, name), 0o755)
  }
  return folder
}
