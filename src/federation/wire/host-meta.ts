// host-meta (RFC 6415): the address of WebFinger, for software that looks here first.

/** The XML of `/.well-known/host-meta`. `webFingerTemplate` contains `{uri}`. */
export function buildHostMeta(webFingerTemplate: string): string {
  const template = webFingerTemplate.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<XRD xmlns="http://docs.oasis-open.org/ns/xri/xrd-1.0">',
    `  <Link rel="lrdd" type="application/xrd+xml" template="${template}"/>`,
    '</XRD>',
  ].join('\n')
}
