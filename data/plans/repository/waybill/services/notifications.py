"""Mail to recipients and customers, through the mail provider's HTTP API."""

import logging

from waybill.flags import is_enabled
from waybill.http_client import post_json
from waybill.models import Parcel
from waybill.settings import load_settings

log = logging.getLogger(__name__)


def send_mail(to: str, subject: str, body: str, key: str) -> None:
    """Hand a mail to the provider; `key` makes a retried call harmless."""
    message = {"to": to, "subject": subject, "text": body}
    post_json(f"{load_settings().mail_url}/messages", message, headers={"Idempotency-Key": key})


def notify_delivered(parcel: Parcel) -> bool:
    """Tell the recipient that a parcel has arrived; False if the flag is off."""
    if not is_enabled("delivery_mail"):
        return False
    body = f"Your parcel {parcel.code} has been delivered."
    send_mail(parcel.recipient_email, "Your parcel has arrived", body, key=f"delivered-{parcel.id}")
    log.info("delivery mail sent for %s", parcel.code)
    return True
