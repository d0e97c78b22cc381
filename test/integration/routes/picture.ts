// A small picture, as uploaded by browsers.

import sharp from 'sharp'

export async function pictureForm(field: string): Promise<FormData> {
  const bytes = await sharp({ create: { width: 64, height: 64, channels: 3, background: 'teal' } })
    .png()
    .toBuffer()
  const form = new FormData()
  form.set(field, new File([new Uint8Array(bytes)], 'picture.png', { type: 'image/png' }))
  return form
}
