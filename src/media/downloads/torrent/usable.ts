// Which torrents are taken: those of exactly one file that is not too large.

/** What is wrong with the files of a torrent; undefined when nothing is. */
export function faultOf(files: readonly { length: number }[], maxBytes: number): 'files' | 'too-large' | undefined {
  const [file] = files
  if (!file || files.length > 1) return 'files'
  return file.length > maxBytes ? 'too-large' : undefined
}
