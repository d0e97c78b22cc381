// Creates the links and permissions of the embedded PostgreSQL while the image is built: later its folder is read-only.

import { prepareBinaries } from '../../src/platform/embedded-postgres-binaries.ts'

const nowhere = '/nonexistent'
prepareBinaries({ home: nowhere, cluster: nowhere, shared: nowhere, account: undefined })
