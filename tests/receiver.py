"""Takes pushed profiles as a continuous profiling server does, and keeps their parts as files.

    python3 tests/receiver.py DIRECTORY PORT

POST /ingest?... with a form of files: DIRECTORY/1.json is the query, DIRECTORY/1.NAME each part."""
import email.parser
import http.server
import json
import os
import sys
import urllib.parse

DIRECTORY, PORT = sys.argv[1], int(sys.argv[2])


class Receiver(http.server.BaseHTTPRequestHandler):
    count = 0

    def do_POST(self):
        where = urllib.parse.urlparse(self.path)
        body = self.rfile.read(int(self.headers["Content-Length"]))
        form = email.parser.BytesParser().parsebytes(
            b"Content-Type: " + self.headers["Content-Type"].encode() + b"\r\n\r\n" + body)
        good = where.path == "/ingest" and form.is_multipart()
        if good:
            Receiver.count += 1
            with open(f"{DIRECTORY}/{Receiver.count}.json", "w", encoding="utf-8") as out:
                json.dump(urllib.parse.parse_qs(where.query), out)
            for part in form.get_payload():
                name = part.get_param("name", header="content-disposition")
                with open(f"{DIRECTORY}/{Receiver.count}.{os.path.basename(name)}", "wb") as out:
                    out.write(part.get_payload(decode=True))
        self.send_response(200 if good else 400)
        self.end_headers()


os.makedirs(DIRECTORY, exist_ok=True)
server = http.server.HTTPServer(("127.0.0.1", PORT), Receiver)
print("ready", flush=True)
server.serve_forever()
